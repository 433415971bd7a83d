package com.example.shop;

import org.springframework.test.context.TestPropertySource;

@TestPropertySource(properties = { "dlock.backend=jdbc", "spring.datasource.url=jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1" })
class H2ShopTests extends AbstractShopTests {

}
